#pragma once

// The part of NCCL's device interface that the project calls. Names and meanings are NCCL's.

#include <nccl.h>

struct ncclTeam {
    int nRanks, rank, stride;
};
using ncclTeam_t = ncclTeam;

extern "C" {
/// The ranks whose memory a kernel of this rank can reach.
ncclTeam_t ncclTeamLsa(ncclComm_t comm);
}

// In kernels only.
void* ncclGetLsaPointer(ncclWindow_t w, size_t offset, int peer);
