#!/usr/bin/env python3
"""Reports, exports and vdbench's folder, from real runs.

The checks of vdbench's layout are named after the facts of
controller/report/README.md, which has them in words.
"""
import csv
import io
import json
import os
import pty
import re
import subprocess
import unittest

import lab

PARM = """
* three kinds of run: loops, a curve with warm-up, a rate
sd=default,openflags=o_direct,threads=4,size=16m
sd=sd1,lun=$folder/a    the first
sd=sd2,lun=$folder/b
wd=wd1,sd=sd*,rdpct=70,seekpct=100,xfersize=4k
rd=loops,wd=wd1,iorate=max,elapsed=3,interval=1,forthreads=(1,2)
rd=curve,wd=wd1,iorate=curve,curve=(40,80),elapsed=2,interval=1,warmup=1
rd=rate,wd=wd1,iorate=300,elapsed=2,interval=1
"""

TOD = r"\d\d:\d\d:\d\d\.\d\d\d"
LABEL = r"(\d+|avg_\d+-\d+)"
INTEGER, DECIMAL = r"\d+", r"\d+\.\d+"
DIGITS = [1, 2, 0, 2, 3, 3, 3, 2, 2, 3, 1, 1, 1]
COLUMNS = (
    "tod timestamp Run Interval reqrate rate MB/sec bytes/io read% resp "
    "read_resp write_resp resp_max read_max write_max resp_std read_std "
    "write_std xfersize threads rdpct rhpct whpct seekpct lunsize version "
    "compratio dedupratio queue_depth cpu_used cpu_user cpu_kernel cpu_wait "
    "cpu_idle").split()
START = re.compile(
    TOD + r" Starting RD=(\S+); I/O rate: (Uncontrolled MAX|Uncontrolled curve"
    r"|\S+); elapsed=\d+( warmup=\d+)?; For loops: (None|\S+=\S+( \S+=\S+)*)")


def is_row(line):
    return re.match(TOD + r"\s+" + LABEL + r"\s", line)


def rows_of(text):
    return [line for line in text.splitlines() if is_row(line)]


def strict(text):
    """JSON without NaN, Infinity and keys that come twice."""
    def refuse(word):
        raise AssertionError(f"'{word}' in JSON")

    def once(pairs):
        keys = [key for key, _ in pairs]
        assert len(keys) == len(set(keys)), keys
        return dict(pairs)
    return json.loads(text, parse_constant=refuse, object_pairs_hook=once)


class Shared(unittest.TestCase):
    """One real run for all: it is only read."""

    @classmethod
    def setUpClass(cls):
        cls.lab = lab.Lab()
        cls.lab.__enter__()
        cls.addClassCleanup(cls.lab.__exit__, None, None, None)
        parm = cls.lab.file("x.parm", PARM)
        cls.said = cls.lab.lockstep("run", "-f", parm, "-o", "out",
                                    f"folder={cls.lab.folder}", check=0)
        cls.console = cls.said.stdout
        cls.out = cls.lab.folder / "out"
        cls.text = {name: (cls.out / f"{name}.html").read_text()
                    for name in ("flatfile", "summary", "totals", "logfile",
                                 "parmfile", "histogram", "report")}
        cls.document = strict(
            cls.lab.lockstep("export", "out", "--json", check=0).stdout)
        cls.phases = [phase for phase in cls.document["phases"]
                      if phase["kind"] == "measure"]


class Layout(Shared):
    def everywhere(self):
        for name in ("summary", "totals", "logfile"):
            yield name, self.text[name]
        yield "console", self.console

    def test_fact_1_perf_rows_are_15_words(self):
        for name, text in self.everywhere():
            rows = rows_of(text)
            self.assertTrue(rows, name)
            for row in rows:
                self.assertRegex(row, "^" + TOD)
                self.assertEqual(len(row.split()), 15, row)
                self.assertEqual(row, row.rstrip(), name)
                self.assertNotIn(",", row)
                self.assertNotIn("n/a", row)
                if "avg" in row:
                    self.assertIn(" avg_", row)

    def test_fact_2_digits(self):
        for name, text in self.everywhere():
            for row in rows_of(text):
                for word, digits in zip(row.split()[2:], DIGITS):
                    form = r"\d+" if digits == 0 else rf"\d+\.\d{{{digits}}}"
                    self.assertRegex(word, f"^{form}$", row)

    def test_fact_3_intervals_restart_and_an_average_ends_each_run(self):
        for text in (self.console, self.text["summary"],
                     self.text["logfile"]):
            self.assertEqual(self.labels(text), self.expected_labels())

    def labels(self, text):
        return [row.split()[1] for row in rows_of(text)]

    def expected_labels(self):
        labels = []
        for phase in self.phases:
            warmup = round(phase["warmup_s"] / phase["interval_s"])
            last = warmup + round(phase["elapsed_s"] / phase["interval_s"])
            labels += [str(n + 1) for n in range(last)]
            labels.append(f"avg_{max(warmup + 1, 2)}-{last}")
        return labels

    def test_fact_4_starting_lines(self):
        lines = [line for line in self.console.splitlines() if "RD=" in line]
        self.assertEqual(len(lines), len(self.phases))
        for line, phase in zip(lines, self.phases):
            match = START.fullmatch(line)
            self.assertTrue(match, line)
            self.assertEqual(match.group(1), phase["run"])
        self.assertIn("For loops: threads=1", lines[0])
        for line in self.console.splitlines():
            if "avg" in line:
                self.assertTrue(is_row(line), line)

    def test_fact_5_anchors(self):
        for name in ("summary", "totals"):
            lines = [line for line in self.text[name].splitlines()
                     if "Starting RD=" in line]
            self.assertEqual(len(lines), len(self.phases))
            for line, phase in zip(lines, self.phases):
                match = re.fullmatch(
                    r'<a name="[^"]+"></a>.*<b>(.*)</b>.*', line)
                self.assertTrue(match, line)
                start = START.fullmatch(match.group(1))
                self.assertEqual(start.group(1), phase["run"])

    def test_fact_6_totals(self):
        text = self.text["totals"]
        lines = text.splitlines()
        self.assertEqual(len(rows_of(text)), text.count("Starting RD="))
        self.assertTrue(all(" avg_" in row for row in rows_of(text)))
        self.assertGreaterEqual(len(lines), 5)
        self.assertNotIn("format", lines[4])
        for line in lines:
            if "name" in line and "<a" in line:
                self.assertIn("Starting RD=", line)
        self.assertTrue(is_row(lines[-1]))
        self.assertIn(" avg_", lines[-1])
        self.assertTrue(text.endswith("\n"))
        self.assertFalse(text.endswith("\n\n"))
        self.assertNotIn("</pre>", text)

    def test_fact_7_the_distribution_once_at_the_top(self):
        first = self.console.splitlines()[0]
        self.assertRegex(first, "^Vdbench distribution: vdbench50407 ")
        self.assertEqual(self.console.count("Vdbench distribution"), 1)

    def test_fact_8_headers(self):
        for name, text in self.everywhere():
            lines = text.splitlines()
            at = [i for i, line in enumerate(lines) if "Starting RD=" in line]
            for i in at:
                first = next(k for k in range(i, len(lines))
                             if is_row(lines[k]))
                date, second = lines[first - 2], lines[first - 1]
                self.assertRegex(
                    date, r"^(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
                    r" \d\d, \d{4} ")
                self.assertEqual(len(date.split()[3:]), 14, name)
                self.assertEqual(len(second.split()), 13, name)
                self.assertRegex(date, "interval +i/o +MB/sec +bytes +read")
                self.assertRegex(second, r"^ +rate +1024\*\*2 +i/o +pct")
            for row in rows_of(text):
                self.assertNotRegex(row.replace("avg", ""), "[a-z]")

    def test_fact_10_the_flat_header(self):
        lines = self.text["flatfile"].splitlines()
        first = next(i for i, line in enumerate(lines) if "tod" in line)
        self.assertTrue(lines[first].startswith(" tod "))
        self.assertTrue(all(line.startswith("*") for line in lines[:first]))
        for line in lines[first + 1:]:
            self.assertRegex(line, "^" + TOD)

    def test_fact_11_34_columns(self):
        header = next(line for line in self.text["flatfile"].splitlines()
                      if line.startswith(" tod"))
        self.assertEqual(header.split(), COLUMNS)
        self.assertEqual(len(COLUMNS), 34)

    def flat(self):
        return [line for line in self.text["flatfile"].split("\n")
                if re.match(TOD, line)]

    def test_fact_12_flat_rows(self):
        for line in self.flat():
            self.assertTrue(line.endswith(" "))
            self.assertFalse(line.endswith("  "))
            self.assertEqual(len(line.split()), 34)
            if "avg_" in line:
                self.assertIn("  avg_", line)
                line = line.replace("  avg_", " avg_")
            self.assertNotIn("  ", line)

    def test_fact_13_times(self):
        for line in self.flat():
            tod, stamp = line.split()[:2]
            self.assertRegex(tod, f"^{TOD}$")
            self.assertRegex(stamp, r"^\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d-[A-Z]+$")
            self.assertIn(tod[:8], stamp)

    def test_fact_14_rows_and_numbers(self):
        rows = [dict(zip(COLUMNS, line.split())) for line in self.flat()]
        self.assertEqual([row["Interval"] for row in rows],
                         self.expected_labels())
        self.assertEqual(list(dict.fromkeys(row["Run"] for row in rows)),
                         list(dict.fromkeys(p["run"] for p in self.phases)))
        for row in rows:
            for value in row.values():
                if re.fullmatch(r"\d+", value):
                    self.assertLess(int(value), 2 ** 31)
            self.assertEqual(row["xfersize"], "4096")
        rates = {row["Run"]: row["reqrate"] for row in rows}
        self.assertEqual(rates["loops"], "9999988")
        self.assertEqual(rates["curve"], "9999977")
        self.assertEqual(rates["rate"], "300")

    def test_fact_15_log_and_parameters(self):
        last = self.text["logfile"].splitlines()[-20:]
        self.assertTrue(any(is_row(line) for line in last))
        text = self.text["parmfile"]
        for key in ("lun", "seekpct", "xfersize", "rdpct", "threads"):
            self.assertRegex(text, rf"\b{key}=[^\s,]+(,|\n)")
        self.assertNotIn("$folder", text)
        self.assertIn(f"lun={self.lab.folder}/a\n", text)

    def test_an_export_is_the_same_to_the_byte(self):
        self.lab.lockstep("export", "out", "--vdbench", "again", check=0)
        for name in ("flatfile", "summary", "totals", "logfile", "parmfile",
                     "histogram"):
            again = self.lab.folder / "again" / f"{name}.html"
            self.assertEqual(again.read_text(), self.text[name], name)

    def test_a_histogram_has_every_request_of_each_run(self):
        text = self.text["histogram"]
        self.assertEqual(
            [m[1] for m in START.finditer(text)],
            [p["run"] for p in self.phases])
        tables = re.split(r"Starting RD=", text)[1:]
        for table, phase in zip(tables, self.phases):
            sums = [(sum(int(line.split()[3]) for line in lines.splitlines()
                         if re.match(r"\s+\d+\.\d{3} < ", line)), int(told))
                    for told, lines in re.findall(
                        r"^(?:Reads|Writes|Reads and writes): (\d+)\n"
                        r"((?:.*\S.*\n|\n(?= *min))+)", table, re.M)]
            total = phase["total"]
            both = [total[op]["ios"] for op in ("read", "write")]
            self.assertEqual([told for _, told in sums],
                             [total["ios"]] + (both if all(both) else []))
            for counted, told in sums:
                self.assertEqual(counted, told)

    def test_an_earlier_folder_stays(self):
        self.lab.lockstep("export", "out", "--vdbench", "kept", check=0)
        before = (self.lab.folder / "kept" / "totals.html").stat()
        said = self.lab.lockstep("export", "out", "--vdbench", "kept", check=2)
        self.assertIn("never overwritten", said.stderr)
        after = (self.lab.folder / "kept" / "totals.html").stat()
        self.assertEqual(before.st_mtime_ns, after.st_mtime_ns)


class Agreement(Shared):
    """The same digits wherever a figure is told."""

    FIGURES = ["ios", "bytes", "errors", "iops", "mib_s", "read_pct",
               "bytes_per_io", "queue_depth", "host_cpu_pct"]
    LATENCY = ["mean", "min", "p50", "p90", "p99", "p999", "p9999", "max",
               "stddev"]

    def table(self, *more, **options):
        text = self.lab.lockstep("export", "out", "--csv", *more, check=0,
                                 **options).stdout
        return text, list(csv.DictReader(io.StringIO(text)))

    def same(self, csv_text, value):
        if value is None:
            self.assertEqual(csv_text, "")
        else:
            self.assertEqual(float(csv_text), value)

    def compare(self, line, figures):
        for key in self.FIGURES:
            self.same(line[key], figures[key])
        for key in self.LATENCY:
            self.same(line[f"service_us_{key}"], figures["service_us"][key])
            response = figures["response_us"]
            self.same(line[f"response_us_{key}"],
                      response[key] if response else None)

    def items(self, phase):
        yield "cluster", "", phase["total"]
        for key in ("host", "drive", "workload"):
            for item in phase[key + "s"]:
                yield key, item["name"], item

    def test_totals_in_csv_and_json(self):
        _, lines = self.table("--totals")
        expected = [(phase, *item) for phase in self.document["phases"]
                    for item in self.items(phase)]
        self.assertEqual(len(lines), len(expected))
        for line, (phase, scope, name, figures) in zip(lines, expected):
            self.assertEqual((line["run"], line["scope"], line["name"]),
                             (phase["run"], scope, name))
            self.compare(line, figures)

    def test_intervals_in_csv_and_json(self):
        _, lines = self.table("--intervals")
        cluster = [line for line in lines if line["scope"] == "cluster"]
        rows = [row for phase in self.document["phases"]
                for row in phase["intervals"]]
        self.assertEqual(len(cluster), len(rows))
        for line, row in zip(cluster, rows):
            self.assertEqual(line["interval"], str(row["interval"]))
            self.compare(line, row["figures"])
        hosts = [line for line in lines if line["scope"] == "host"]
        parts = [row for phase in self.document["phases"]
                 for row in phase["host_intervals"]]
        self.assertEqual(len(hosts), len(parts))
        for line, row in zip(hosts, parts):
            self.compare(line, row["figures"])

    def test_the_page_has_the_documents_digits(self):
        section = {int(number): body for number, body in re.findall(
            r'<section class="run" id="run(\d+)">(.*?)</section>',
            self.text["report"], re.S)}
        for phase in self.document["phases"]:
            told = set(re.findall(r'<data value="([^"]+)">',
                                  section[phase["phase"]]))
            told = {float(value) for value in told}
            total = phase["total"]
            for value in [total["iops"], total["mib_s"], total["errors"],
                          *total["service_us"].values(),
                          *(total["response_us"] or {}).values()]:
                if value is not None:
                    self.assertIn(value, told, phase["run"])

    def test_the_page_shows_rounded_what_it_has(self):
        for value, shown in re.findall(r'<data value="([^"]+)">([^<]+)</data>',
                                       self.text["report"]):
            shown = shown.replace(",", "")
            digits = len(shown.partition(".")[2])
            self.assertLessEqual(abs(float(shown) - float(value)),
                                 0.5 * 10 ** -digits + 1e-9)

    def test_the_tables_round_the_same_figures(self):
        said = self.lab.lockstep("export", "out", "--json", check=0)
        document = strict(said.stdout)
        rows = {}
        for line in rows_of(self.text["totals"]):
            words = line.split()
            rows.setdefault(words[1], []).append(words)
        for phase in self.phases:
            average = phase["without_first"] or phase["total"]
            first = 2 if phase["without_first"] else \
                phase["warmup_intervals"] + 1
            last = phase["warmup_intervals"] + phase["measured_intervals"]
            words = rows[f"avg_{first}-{last}"].pop(0)
            self.assertLessEqual(abs(float(words[2]) - average["iops"]), 0.051)
            self.assertLessEqual(
                abs(float(words[6]) - average["service_us"]["mean"] / 1000),
                0.00051)
        self.assertEqual(document, self.document)

    def test_result_json_is_the_shows_document(self):
        result = strict((self.out / "result.json").read_text())
        self.assertEqual([phase["total"] for phase in result["phases"]],
                         [phase["total"] for phase in
                          self.document["phases"]])

    def test_case_N02_effective_values_in_every_line(self):
        _, lines = self.table()
        for line in lines:
            if line["run_kind"] == "measure":
                self.assertEqual(line["xfersize"], "4k")
                self.assertEqual(line["rdpct"], "70")
                self.assertIn(line["threads"], ("1", "2", "4"))
                self.assertTrue(line["iorate_asked"])

    def test_case_N04_one_line_an_interval_and_kind(self):
        _, lines = self.table("--intervals")
        seen = [(line["phase"], line["interval"], line["interval_kind"]
                 == "drain", line["scope"], line["name"]) for line in lines]
        self.assertEqual(len(seen), len(set(seen)))

    def test_case_N07_no_nan_and_any_locale(self):
        env = dict(os.environ, LC_ALL="de_DE.UTF-8", LANG="de_DE.UTF-8")
        plain, lines = self.table()
        german, _ = self.table(env=env)
        self.assertEqual(plain, german)
        self.assertNotRegex(plain.lower(), r"(^|,)-?(nan|inf|infinity)(,|$)")
        for line in lines:
            self.assertNotIn(None, line)
            self.assertNotIn(None, line.values())

    def test_case_A02_the_definition_is_in_the_report(self):
        self.assertIn("totals of all hosts over the common window",
                      self.text["report"])
        self.assertIn("common window", self.document["rates"])

    def test_the_report_again_is_the_same(self):
        self.lab.lockstep("report", "out", "-o", "again.html", check=0)
        self.assertEqual((self.lab.folder / "again.html").read_text(),
                         self.text["report"])
        self.assertLess(len(self.text["report"]), 5 << 20)
        self.assertNotRegex(self.text["report"], r"https?:|src=|<script|url\(")

    def test_case_N01_errors_are_documents(self):
        said = self.lab.lockstep("export", "absent-folder", "--json",
                                 "-c", "127.0.0.1:1", check=5)
        self.assertIn("error", strict(said.stdout))
        said = self.lab.lockstep("compare", "out", "--json", check=2)
        self.assertIn("error", strict(said.stdout))

    def test_compare_with_itself(self):
        said = self.lab.lockstep("compare", "out", "out", "--json",
                                 "--fail-if", "iops < -1%", check=0)
        document = strict(said.stdout)
        self.assertEqual(len(document["matches"]), len(self.phases))
        for match in document["matches"]:
            for change in match["changes"]:
                self.assertEqual(change["verdict"], "equal")
        self.lab.lockstep("compare", "out", "out", "--fail-if", "iops >= 0%",
                          check=6)
        said = self.lab.lockstep("compare", "out", "out", "--fail-if", "x > 1",
                                 check=2)
        self.assertIn("there is no figure 'x'", said.stderr)


class Live(unittest.TestCase):
    def test_fact_9_lines_come_as_they_are_known(self):
        with lab.Lab() as here:
            parm = here.file("x.parm", PARM)
            words = here.words("run", "-f", parm, "-o", "out",
                               f"folder={here.folder}")
            process = subprocess.Popen(words, stdout=subprocess.PIPE,
                                       text=True, cwd=here.folder,
                                       stdin=subprocess.DEVNULL)
            row = next(line for line in process.stdout if is_row(line))
            self.assertIsNone(process.poll())
            flat = (here.folder / "out" / "flatfile.html").read_text()
            summary = (here.folder / "out" / "summary.html").read_text()
            self.assertIn(row, summary)
            self.assertRegex(flat, f"\n{row.split()[0]} ")
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0)

    def test_a_terminal_has_p99_behind(self):
        with lab.Lab() as here:
            parm = here.file("x.parm", PARM)
            words = here.words("run", "-f", parm, "-o", "out",
                               f"folder={here.folder}")
            master, slave = pty.openpty()
            process = subprocess.Popen(words, stdout=slave, cwd=here.folder,
                                       stdin=subprocess.DEVNULL)
            os.close(slave)
            said = b""
            try:
                while chunk := os.read(master, 65536):
                    said += chunk
            except OSError:
                pass
            self.assertEqual(process.wait(timeout=60), 0)
            text = said.decode()
            self.assertIn("      p99\r\n", text)
            rows = [row for row in rows_of(text)]
            self.assertTrue(all(len(row.split()) >= 16 for row in rows))


if __name__ == "__main__":
    lab.main()
