// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
using namespace nvcuda;
extern "C" __global__ void wmm(const __half*a,const __half*b,float*c) {
    wmma::fragment<wmma::matrix_a,16,16,16,__half,wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b,16,16,16,__half,wmma::col_major> fb;
    wmma::fragment<wmma::accumulator,16,16,16,float> fc;
    wmma::fill_fragment(fc,0.f);
    for(int k=0;k<4;k++) {
        wmma::load_matrix_sync(fa,a+16*k,64);
        wmma::load_matrix_sync(fb,b+16*k,64);
        wmma::mma_sync(fc,fa,fb,fc);
    }
    wmma::store_matrix_sync(c,fc,16,wmma::mem_row_major);
}
