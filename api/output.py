"""The files of a result: all regions as Parquet and CSV, and the result as JSON."""

from pathlib import Path

from fairbox.result import Result
from fairbox.smtlib_out.atomic import atomic_open, atomic_path


def write_result(folder: Path, result: Result) -> list[Path]:
    """Write regions.parquet, regions.csv and result.json, each whole or not at all; return their paths.

    Files of the same names are replaced. Raises OutputError when one cannot be written.
    """
    frame = result.to_frame()
    parquet, csv, json = (folder / name for name in ("regions.parquet", "regions.csv", "result.json"))
    with atomic_path(parquet) as temporary:
        frame.to_parquet(temporary, engine="pyarrow", index=False)
    with atomic_open(csv) as file:
        frame.to_csv(file, index=False, lineterminator="\n")
    with atomic_open(json) as file:
        file.write(result.to_json() + "\n")
    return [parquet, csv, json]
