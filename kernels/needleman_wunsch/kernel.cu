// SPDX-License-Identifier: Apache-2.0
// Alignment of two sequences by dynamic programming: the tiles of one diagonal of the table of scores, a warp for each.
// A tile gets the scores at its upper and left border and gives those at the other two; inside, the warp follows the
// diagonals, from one active lane to 32 and back.

#define SIDE 32
#define KINDS 24

extern "C" __global__ void needleman_wunsch(int gap, const int *across, const int *down, const int *likeness,
                                            const int *top, const int *left, int *bottom, int *right)
{
    __shared__ int score[SIDE + 1][SIDE + 1];
    __shared__ int likely[SIDE][SIDE];
    int tile = blockIdx.x, lane = threadIdx.x, last = gridDim.x - 1;
    int column_kind = across[tile * SIDE + lane];
    for (int row = 0; row < SIDE; ++row)
        likely[row][lane] = likeness[down[(last - tile) * SIDE + row] * KINDS + column_kind];
    score[0][lane + 1] = top[tile * (SIDE + 1) + lane + 1];
    score[lane + 1][0] = left[tile * SIDE + lane];
    if (lane == 0)
        score[0][0] = top[tile * (SIDE + 1)];
    __syncthreads();
    for (int diagonal = 0; diagonal < 2 * SIDE - 1; ++diagonal) {
        int row = diagonal - lane;
        if (row >= 0 && row < SIDE) {
            int aligned = score[row][lane] + likely[row][lane];
            int skipped = max(score[row][lane + 1], score[row + 1][lane]) - gap;
            score[row + 1][lane + 1] = max(aligned, skipped);
        }
        __syncthreads();
    }
    bottom[tile * SIDE + lane] = score[SIDE][lane + 1];
    right[tile * SIDE + lane] = score[lane + 1][SIDE];
}
