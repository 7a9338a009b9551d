from tests.golden.watching import Watcher


class LtrfWatcher:
    def __init__(self, cfg, workload):
        self.cfg = cfg

    def check(self, s, f):
        assert not f["error"]

    def check_end(self, c):
        pass
