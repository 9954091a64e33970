"""Uses `kubectl crdx mcp` with the official client library of the Model Context Protocol (`pip install "mcp>=2"`).

usage: mcp_client.py PROGRAM
"""

import asyncio
import json
import os
import sys
import tempfile

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")


async def main(program):
    server = StdioServerParameters(command=program, args=["mcp"], cwd=os.path.join(ROOT, "examples"))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        started = await session.initialize()
        assert started.server_info.name == "kubectl-crdx", started
        tools = [tool.name for tool in (await session.list_tools()).tools]
        assert tools == ["validate", "diff", "lint", "example", "explain", "cel"], tools

        async def call(name, **arguments):
            result = await session.call_tool(name, arguments)
            return result.is_error, result.content[0].text

        failed, text = await call("validate", paths=["objects"], crds=["crds"])
        report, _ = json.JSONDecoder().raw_decode(text)
        verdicts = [item["verdict"] for item in report["items"]]
        assert not failed and verdicts.count("accepted") == 3 and verdicts.count("rejected") == 3, verdicts

        failed, text = await call("validate", manifest="{apiVersion: v1, kind: ConfigMap, metadata: {name: A}}")
        assert not failed and "rejected" in text, text
        failed, text = await call("cel", expression="self.size() > 2", manifest="[1, 2, 3]")
        assert not failed and "true" in text, text
        failed, text = await call("example", type="crontabs", crds=["crds"], minimal=True)
        assert not failed and "kind: CronTab" in text, text
        failed, text = await call("explain", type="crontabs.spec", crds=["crds"])
        assert not failed and "FIELDS" in text, text
        failed, text = await call("lint", paths=["crds"])
        assert not failed and "LintReport" in text, text

        with tempfile.TemporaryDirectory() as outside:
            failed, text = await call("validate", paths=[outside])
            assert failed and "not in the working directory" in text, text
        print(f"{len(tools)} tools, 7 calls: as expected")


asyncio.run(main(os.path.abspath(sys.argv[1])))
