"""Python imports this when it starts with this folder on its path: it begins the watch."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import reads

del sys.path[0]
if reads.LOG in os.environ:
    reads.Watch(os.environ[reads.LOG], os.environ[reads.WATCHED].split(os.pathsep)).start()
