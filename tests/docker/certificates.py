"""Certificates for a daemon on loopback and for its client, made by openssl for one test run."""

from __future__ import annotations

import subprocess
from pathlib import Path

_DAYS = "2"


def make_certificates(folder: Path) -> None:
    """ca.pem, server-cert.pem, server-key.pem; and cert.pem, key.pem, the client's, by the names
    that Docker looks for."""
    folder.mkdir()
    _openssl(folder, "req", "-x509", *_new("ca-key.pem"), "-subj", "/CN=tests", "-days", _DAYS,
             "-out", "ca.pem", "-addext", "keyUsage=critical,keyCertSign,cRLSign")  # fmt: skip
    _sign(folder, "server-", "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth")
    _sign(folder, "", "extendedKeyUsage=clientAuth")


def _sign(folder: Path, prefix: str, extensions: str) -> None:
    (folder / "extensions").write_text(extensions)
    _openssl(folder, "req", *_new(f"{prefix}key.pem"), "-subj", "/CN=one", "-out", "request.pem")
    _openssl(folder, "x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca-key.pem",
             "-CAcreateserial", "-days", _DAYS, "-extfile", "extensions",
             "-out", f"{prefix}cert.pem")  # fmt: skip


def _new(key: str) -> tuple[str, ...]:
    return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key)


def _openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
