# The workspace that the extension suite opens. Tests work on a copy.
def scale(x):
    return x * 2
