#!/usr/bin/env python3
"""Exact where others average: percentiles over hosts, clocks, counts."""
import unittest

import lab


class Exact(unittest.TestCase):
    def setUp(self):
        self.lab = lab.Lab()
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__, None, None, None)

    def test_case_A01_percentiles_of_two_hosts_are_merged(self):
        """999 I/Os of 100 us for each of 50 ms, on different hosts."""
        self.lab.controller()
        self.lab.agent("a1", None, "--engine", "null:100us")
        self.lab.agent("a2", None, "--engine", "null:50ms")
        parm = self.lab.file("x.parm", """
hd=a1
hd=a2
sd=sd1,host=a1,lun=/dev/zero,size=1g,threads=64
sd=sd2,host=a2,lun=/dev/zero,size=1g,threads=64
wd=fast,sd=sd1,rdpct=100,seekpct=100,xfersize=4k,skew=99.9
wd=slow,sd=sd2,rdpct=100,seekpct=100,xfersize=4k,skew=0.1
rd=rd1,wd=*,iorate=10000,elapsed=12,interval=1,distribution=deterministic
""")
        phase = self.lab.json("submit", "--wait", "-f", parm)["phases"][0]
        total = phase["total"]
        hosts = {host["name"]: host for host in phase["hosts"]}
        self.assertAlmostEqual(hosts["a2"]["ios"], 120, delta=3)
        self.assertAlmostEqual(total["ios"], 120000, delta=1500)
        service = total["service_us"]
        self.assertAlmostEqual(service["p50"], 100, delta=0.8)
        self.assertAlmostEqual(service["p99"], 100, delta=0.8)
        self.assertEqual(service["max"], 50000)
        self.assertAlmostEqual(hosts["a1"]["service_us"]["p99"], 100,
                               delta=0.8)
        blob = self.lab.store().execute(
            "SELECT read_service FROM total WHERE scope = ?"
            " ORDER BY phase DESC", (self.cluster_scope(),)).fetchone()[0]
        count = lab.histogram(blob)[0]
        self.assertEqual(count, total["ios"])
        self.assertAlmostEqual(lab.quantile(blob, 0.9995) / 1e6, 50,
                               delta=0.4)
        self.assertAlmostEqual(lab.quantile(blob, 0.99) / 1e3, 100, delta=0.8)

    def cluster_scope(self):
        """The scope of which there is one row a phase and the largest count."""
        rows = self.lab.store().execute(
            "SELECT scope, max(read_ios) FROM total GROUP BY scope"
            " ORDER BY 2 DESC, count(*) ASC, scope ASC").fetchall()
        return rows[0][0]

    def test_case_D06_a_stall_shows_in_response_not_in_service(self):
        self.lab.controller()
        self.lab.agent("a1", None, "--engine", "null:100us,stall=5s+2s")
        parm = self.lab.file("x.parm", """
hd=a1
sd=sd1,host=a1,lun=/dev/zero,size=1g,threads=32
wd=wd1,sd=sd1,rdpct=100,seekpct=100,xfersize=4k
rd=rd1,wd=wd1,iorate=1000,elapsed=20,interval=1,distribution=deterministic
""")
        phase = self.lab.json("submit", "--wait", "-f", parm)["phases"][0]
        total = phase["total"]
        self.assertAlmostEqual(total["ios"], 20000, delta=300)
        self.assertLess(total["service_us"]["p99"], 1000)
        self.assertGreater(total["response_us"]["p99"], 1500000)
        self.assertGreater(total["response_us"]["max"], 1900000)
        # The drive's doing, not the generator's.
        self.assertLess(total["late_us"]["mean"], 50000)
        self.assertGreater(total["late_us"]["max"], 0)

    def test_case_B01_the_true_offset_is_within_the_stated_uncertainty(self):
        """Clocks a day apart, and a cable that is slow in one direction."""
        lab.need_root()
        cables = {}
        truth = {"plain": 86400, "up": 7200, "down": -900}
        self.lab.controller()
        for name, delays in {"plain": None, "up": (0.03, 0.001),
                             "down": (0.001, 0.02)}.items():
            at = self.lab.at
            if delays:
                cables[name] = lab.Delay(at, *delays)
                self.lab.undo(cables[name].end)
                at = cables[name].at
            words = ["unshare", "--time", "--monotonic", truth[name],
                     lab.AGENT, "--name", name, "--controller", at]
            self.lab.start(f"agent-{name}", words).wait_for("connected")
        for host in self.lab.json("hosts")["hosts"]:
            self.assertIsNotNone(host["clock_offset_us"], host["name"])
            error = abs(host["clock_offset_us"] - truth[host["name"]] * 1e6)
            print("%s: true error %.0f us, stated %.0f us" % (
                host["name"], error, host["clock_uncertainty_us"]))
            self.assertLessEqual(error, host["clock_uncertainty_us"])
        parm = self.lab.file("x.parm", """
hd=plain
hd=up
sd=sd1,host=plain,lun=/dev/zero,size=1g
sd=sd2,host=up,lun=/dev/zero,size=1g
wd=wd1,sd=sd*,rdpct=100,seekpct=100,xfersize=4k
rd=rd1,wd=wd1,iorate=100,elapsed=2,interval=1
""")
        document = self.lab.json("submit", "--wait", "-f", parm, check=1)
        self.assertIn("up", document["error"])
        self.assertIn("5", document["error"])


if __name__ == "__main__":
    lab.main()
