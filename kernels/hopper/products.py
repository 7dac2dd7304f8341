"""Matrix products as all roles start them: a warpgroup's own, and not waited for."""

# pyright: reportArgumentType=false, reportAssignmentType=false, reportCallIssue=false, reportOperatorIssue=false
# (Gluon's annotations describe Python's side of these calls, not the kernel's.)

from kernels.hopper.gluon_names import gluon, wgmma


@gluon.jit
def start(a, rows, zero):
    """Start a · rowsᵀ: scores, or dP. `zero` is a tile of the answer's shape and layout."""
    return wgmma(a, rows.permute((1, 0)), zero, use_acc=False, is_async=True)
