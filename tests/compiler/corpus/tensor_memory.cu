// sm_100a
extern "C" __global__ void tc5(unsigned *y) {
    __shared__ unsigned a;
    unsigned sa=(unsigned)__cvta_generic_to_shared(&a);
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;\n"::"r"(sa));
    __syncthreads();
    unsigned r;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1]; tcgen05.wait::ld.sync.aligned;":"=r"(r):"r"(a));
    y[threadIdx.x]=r;
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;"::"r"(a));
}
