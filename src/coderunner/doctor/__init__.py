"""Proves each control by trying it, in throwaway boxes on the engine at hand.

    examination.py   the whole course of it: start the engine, try everything, look for leftovers
    bait.py          what the doctor puts up on the host for the box to reach: it must not
    probe.py         runs in a box: reaches for everything that should be out of reach
    breach.py        runs in a box: breaks one limit
    trials.py        which limits are broken, and what has to happen then
    leftovers.py     what is still there afterwards: processes, cgroups, files, descriptors
    cleaning.py      removes what others have left
    host.py          what this machine is
    report.py        Finding, Report: what came out

A control counts as enforced only if its trial was really refused or ended. What the engine says
of itself can make that less, never more.
"""

from __future__ import annotations

from coderunner.doctor.cleaning import clean
from coderunner.doctor.examination import examine
from coderunner.doctor.report import Finding, Kind, Report

__all__ = ["Finding", "Kind", "Report", "clean", "examine"]
