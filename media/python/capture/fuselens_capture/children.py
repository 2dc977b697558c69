"""Children by `fork` of a program whose profiler has run."""
import os

_done = False


def let_children_end():
    """Lets every child forked from now on end.

    Once torch's profiler has run, its library has a thread, and a child by `fork` that leaves in the usual way waits in a destructor of
    that library for ever: the thread is only in the parent. Python has done all of its own by then, so such a child is told to leave
    without destructors, with the exit code that it has. A hook at fork cannot be taken back; this one holds nothing of ours.
    """
    global _done
    if _done or not hasattr(os, 'register_at_fork'):
        return
    _done = True
    try:
        import ctypes
        library = ctypes.CDLL(None)
        on_exit, leave = library.on_exit, ctypes.cast(library._exit, ctypes.c_void_p)
        on_exit.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    except Exception:  # noqa: BLE001
        # Another C library: there is no such call, and mostly no such wait.
        return

    def after_fork():
        on_exit(leave, None)

    os.register_at_fork(after_in_child=after_fork)
