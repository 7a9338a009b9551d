// SPDX-License-Identifier: Apache-2.0
// The cheapest way down a grid of costs, several rows in one launch: a cell is reached from the three above it. A block
// loads as many columns more on both sides as it has rows to go, and in every row one column less on each side is right.

#define THREADS 128

extern "C" __global__ void pathfinder(int columns, int rows, const int *cost, const int *before, int *after)
{
    __shared__ int row_before[THREADS];
    __shared__ int row_after[THREADS];
    int tx = threadIdx.x, x = blockIdx.x * (THREADS - 2 * rows) + tx - rows;
    bool in_grid = x >= 0 && x < columns;
    if (in_grid)
        row_before[tx] = before[x];
    __syncthreads();
    int left = x == 0 ? tx : tx - 1, right = x == columns - 1 ? tx : tx + 1, reached = 0;
    for (int row = 0; row < rows; ++row) {
        bool valid = in_grid && tx > row && tx < THREADS - 1 - row;
        if (valid) {
            reached = min(min(row_before[left], row_before[tx]), row_before[right]) + cost[row * columns + x];
            row_after[tx] = reached;
        }
        __syncthreads();
        if (valid)
            row_before[tx] = row_after[tx];
        __syncthreads();
    }
    if (in_grid && tx >= rows && tx < THREADS - rows)
        after[x] = reached;
}
