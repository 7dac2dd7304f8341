"""Rings of shared-memory slots: how one warp fills what others read, with no other meeting point.

A slot has two barriers. `full` completes when its data has come, `empty` when every reader is done with it.
Use number n of a slot, counted from 0, is phase n of both, and a barrier is asked for a phase by its parity.
So a role that walks round a ring keeps a slot number and one bit, and asks no other role anything.
"""

# pyright: reportArgumentType=false, reportAssignmentType=false, reportCallIssue=false, reportOperatorIssue=false
# (Gluon's annotations describe Python's side of these calls, not the kernel's.)

from kernels.hopper.gluon_names import aggregate, gl, gluon, mbarrier, static_range, tma_load


@aggregate
class Ring:
    slots: gl.shared_memory_descriptor  # (size, …): a tile each
    full: gl.shared_memory_descriptor  # (size, 1): a barrier each
    empty: gl.shared_memory_descriptor

    @gluon.constexpr_function
    def __init__(self, slots, full, empty):
        self.slots = slots
        self.full = full
        self.empty = empty


@gluon.jit
def barriers(SIZE: gl.constexpr, ARRIVALS: gl.constexpr):
    """Fresh barriers. Each completes a phase after so many arrivals."""
    fresh = gl.allocate_shared_memory(gl.int64, [SIZE, 1], mbarrier.MBarrierLayout())
    for i in static_range(SIZE):
        mbarrier.init(fresh.index(i), count=ARRIVALS)
    return fresh


@gluon.jit
def ring_for(desc, SIZE: gl.constexpr, READERS: gl.constexpr):
    """Slots for the tiles of a descriptor."""
    slots = gl.allocate_shared_memory(desc.dtype, [SIZE] + desc.block_type.shape, desc.layout)  # noqa: RUF005 - kernels have no *
    return Ring(slots, barriers(SIZE, 1), barriers(SIZE, READERS))


@gluon.jit
def after(slots, i, phase):
    """The next slot. The bit flips when the walk comes round."""
    i += 1
    round_again = i == slots.shape[0]
    return gl.where(round_again, 0, i), phase ^ round_again.to(gl.int32)


@gluon.jit
def fill(ring, i, phase, desc, batch, head, row):
    """Have the copy engine (TMA) bring the tile at `row`. What lies outside the tensor arrives as 0."""
    mbarrier.wait(ring.empty.index(i), phase ^ 1)  # phase -1 of a fresh barrier counts as complete
    mbarrier.expect(ring.full.index(i), desc.block_type.nbytes)
    tma_load(desc, [batch, head, row, 0], ring.full.index(i), ring.slots.index(i))


@gluon.jit
def await_full(ring, i, phase):
    mbarrier.wait(ring.full.index(i), phase)


@gluon.jit
def release(ring, i):
    """This reader is done with the slot.

    One thread arrives for its warpgroup. The compiler lets all others get there first, with what they have
    read and written in shared memory.
    """
    mbarrier.arrive(ring.empty.index(i), count=1)


@gluon.jit
def tile_in(ring, i):
    """The slot's tile as a matrix."""
    return ring.slots.index(i).reshape([ring.slots.shape[3], ring.slots.shape[4]])
