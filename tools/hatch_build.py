"""What pyproject.toml cannot say of the package: its tables and its addresses."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent))
from repository import repository_url

TABLES = ("letters.csv.gz", "libras.csv.gz")


class Tables(BuildHookInterface):
    """Put the tables that the loaders read into the wheel; an editable install has data/."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to a wheel that is no editable install."""
        if self.target_name == "wheel" and version == "standard":
            build_data["force_include"] |= {
                str(Path(self.root, "data", name)): f"mlbook/datasets/_tables/{name}"
                for name in TABLES
            }


class Addresses(MetadataHookInterface):
    """Fill [project.urls] from the repository's own address, if it has one."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the addresses."""
        url = repository_url(Path(self.root))
        if url:
            changes = f"{url}/blob/main/CHANGELOG.md"
            metadata["urls"] = {"Source": url, "Issues": f"{url}/issues", "Changes": changes}
