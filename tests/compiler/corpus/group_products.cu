// sm_90a
extern "C" __global__ void wg(float *y, unsigned long long da, unsigned long long db) {
    float d[4]={0,0,0,0};
    asm volatile("wgmma.fence.sync.aligned;"
            "\n wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
                    "\n wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]),
                            "+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "l"(da),"l"(db));
    y[threadIdx.x]=d[0]+d[1]+d[2]+d[3];
}
