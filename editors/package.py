"""Packages the extension for VS Code: `python -m editors.package` writes build/stateward-VERSION.vsix.

Invariants: the same files give the same bytes; the network is not asked; what is packaged is listed here.
"""

import json
import sys
import zipfile
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape, quoteattr

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDER: Final = ROOT / "editors" / "vscode"
FILES: Final = (
    "README.md",
    "client.js",
    "extension.js",
    "features.js",
    "language-configuration.json",
    "package.json",
    "preview.js",
    "syntaxes/dcdl.tmLanguage.json",
    "values.js",
)
"""What the extension is made of, below its folder."""
LICENSE: Final = "LICENSE.txt"
CONTENT_TYPES: Final = {".js": "application/javascript", ".json": "application/json", ".md": "text/markdown", ".txt": "text/plain"}
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_MODE: Final = 0o100644 << 16


def package(target: Path) -> Path:
    """Write the package into a folder; gives its path."""
    about = json.loads((FOLDER / "package.json").read_text("utf-8"))
    contents = {"[Content_Types].xml": _content_types().encode(), "extension.vsixmanifest": _manifest(about).encode()}
    contents |= {f"extension/{name}": (FOLDER / name).read_bytes() for name in FILES}
    contents[f"extension/{LICENSE}"] = (ROOT / "LICENSE").read_bytes()
    target.mkdir(parents=True, exist_ok=True)
    path = target / f"{about['name']}-{about['version']}.vsix"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr = _MODE
            entry.create_system = 3
            archive.writestr(entry, content)
    return path


def _content_types() -> str:
    kinds = {**CONTENT_TYPES, ".vsixmanifest": "text/xml"}
    lines = (f'<Default Extension="{ending}" ContentType="{kind}"/>' for ending, kind in kinds.items())
    types = "http://schemas.openxmlformats.org/package/2006/content-types"
    return f'<?xml version="1.0" encoding="utf-8"?>\n<Types xmlns="{types}">{"".join(lines)}</Types>\n'


def _manifest(about: dict[str, str]) -> str:
    engine = json.loads((FOLDER / "package.json").read_text("utf-8"))["engines"]["vscode"]
    identity = f"Id={quoteattr(about['name'])} Version={quoteattr(about['version'])} Publisher={quoteattr(about['publisher'])}"
    assets = {"Code.Manifest": "package.json", "Content.Details": "README.md", "Content.License": LICENSE}
    listed = "\n".join(
        f'    <Asset Type="Microsoft.VisualStudio.{"Services." if kind.startswith("Content") else ""}{kind}" '
        f'Path="extension/{path}" Addressable="true"/>'
        for kind, path in assets.items()
    )
    return f"""<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" {identity}/>
    <DisplayName>{escape(about["displayName"])}</DisplayName>
    <Description xml:space="preserve">{escape(about["description"])}</Description>
    <Categories>Programming Languages</Categories>
    <License>extension/{LICENSE}</License>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={quoteattr(engine)}/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
    </Properties>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code"/>
  </Installation>
  <Dependencies/>
  <Assets>
{listed}
  </Assets>
</PackageManifest>
"""


def main() -> int:
    """Package, and say where the package is."""
    print(package(ROOT / "build"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
