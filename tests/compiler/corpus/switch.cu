// sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
#include "common.cuh"
extern "C" __global__ void sw(int*x,int n) {
    int t=threadIdx.x,v=x[t];
    for(int i=0;i<n;i++) {
        switch(v&15) {
            case 0:v*=3;
            break;
            case 1:v+=x[i];
            break;
            case 2:v^=5;
            break;
            case 3:v=~v;
            break;
            case 4:v-=t;
            break;
            case 5:v=v/7;
            break;
            case 6:v%=11;
            break;
            case 7:v<<=1;
            break;
            case 8:v=min(v,9);
            break;
            case 9:return;
            default:v++;
        }
    }
    x[t]=v;
}
