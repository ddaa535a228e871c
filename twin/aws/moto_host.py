"""moto in this process: S3, IAM, STS, VPC and Logs are its business, and the rest of the twin looks into them here.

moto keeps its state in module-level backends, so there is one such host per process. It is imported when it is
first needed: it costs about 60 MB and a second. Its random ids are seeded anew before every changing call and
the calls are kept in a journal, so that a restart replays them to the same ids.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import unquote_to_bytes, urlparse

from core.cluster.instance_types import find_instance_type
from core.ids import ZoneId
from twin.aws.errors import NotInTwin
from twin.aws.wire import Request, Response
from twin.world.capacity import group_types
from twin.world.environment import Subnet
from twin.world.state import ACCOUNT, Cluster, Group, Zone

T = TypeVar("T")
SERVICES: Final = frozenset({"s3", "iam", "sts", "ec2", "logs"})
EFA_FAULT = (
    "EFA health checks did not run successfully. Ensure that security group {group} allows all inbound and outbound"
    " traffic to and from itself."
)
SCRIPT_FAULT = "Lifecycle scripts did not run successfully. {what} was not found in S3."

MANAGED_POLICIES: Final = (
    ("/", "AmazonSageMakerClusterInstanceRolePolicy"),
    ("/", "AmazonEKS_CNI_Policy"),
    ("/", "AmazonEKSClusterPolicy"),
    ("/", "AmazonSageMakerHyperPodTrainingOperatorAccess"),
)
"""AWS's own policies that roles of a HyperPod cluster take, by path and name. moto can load all 1300 of AWS's, for
30 MB; here nobody reads what a policy says, only that it exists and who has it."""

# `Any` here: moto ships no types. It does not leave this module.
Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class MotoHost:
    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._seed = self._changes = 0
        self._region = ""
        self._has_ec2 = False
        self._zones: tuple[Zone, ...] = ()
        self._app: Wsgi | None = None

    def begin(self, region: str, zones: Iterable[Zone], seed: int, populate: Callable[[], T]) -> T:
        """Start empty, let `populate` fill in what the world begins with, then replay the journal."""
        self._region, self._zones, self._seed, self._changes = region, tuple(zones), seed, 0
        self._has_ec2 = False
        # moto keeps its account in module globals: whatever filled it, a request or a world before, must go.
        if (backends := sys.modules.get("moto.core.base_backend")) is not None:
            backends.BackendDict.reset()
        self._reseed(f"{seed}:world")
        made = populate()
        journalled = self._journal.read_text().splitlines() if self._journal.exists() else []
        if journalled:
            self._iam()
            self._ec2()
        for line in journalled:
            self._replay(json.loads(line))
        return made

    def warm_up(self) -> None:
        """Import everything now."""
        _import_ec2()
        for module in ("moto.moto_server.werkzeug_app", *(f"moto.{service}.urls" for service in sorted(SERVICES))):
            import_module(module)

    def forget(self) -> None:
        """The journal ends: what follows belongs to a new world."""
        self._journal.unlink(missing_ok=True)

    def call(self, request: Request, *, changes: bool) -> Response:
        """Let moto answer; a changing call that it accepts is journalled."""
        if request.service == "ec2":
            self._ec2()
        elif request.service == "iam":
            self._iam()
        self._make_ready(request)
        self._changes += changes
        seed = f"{self._seed}:{self._changes}"
        if changes:
            self._reseed(seed)
        response = self._run(request)
        if changes and response.status < 400:
            entry = {
                "seed": seed,
                "method": request.method,
                "path": request.path,
                "query": request.query,
                "headers": dict(request.headers),
                "body": base64.b64encode(request.body).decode(),
            }
            self._note(entry)
        return response

    def subnet(self, subnet_id: str) -> Subnet | None:
        found = next((zone[subnet_id] for zone in self._ec2().subnets.values() if subnet_id in zone), None)
        if found is None:
            return None
        return Subnet(subnet_id, found.vpc_id, ZoneId(found.availability_zone_id), found.available_ip_address_count)

    def hold_addresses(self, subnet_id: str, count: int) -> None:
        for zone in self._ec2().subnets.values():
            if subnet_id in zone:
                zone[subnet_id]._available_ip_addresses -= count

    def has_security_group(self, group_id: str) -> bool:
        return self._ec2().get_security_group_from_id(group_id) is not None

    def has_role(self, role_arn: str) -> bool:
        return any(role.arn == role_arn for role in self._backend("iam", "aws").roles.values())

    def network_fault(self, cluster: Cluster, group: Group) -> str:
        if not any(_has_efa(name) for name in group_types(group)):
            return ""
        network = group.spec.get("OverrideVpcConfig") or cluster.spec.get("VpcConfig") or {}
        for group_id in network.get("SecurityGroupIds", []):
            found = self._ec2().get_security_group_from_id(group_id)
            if found is None or not (
                _admits_itself(found.ingress_rules, group_id) and _admits_itself(found.egress_rules, group_id)
            ):
                return EFA_FAULT.format(group=group_id)
        return ""

    def lifecycle_fault(self, group: Group) -> str:
        config = group.spec.get("LifeCycleConfig", {})
        source, script = config.get("SourceS3Uri", ""), config.get("OnCreate", "")
        if not source or not script:
            return ""
        parsed = urlparse(source)
        key = "/".join(part for part in (parsed.path.strip("/"), script) if part)
        bucket = self._backend("s3", "aws").buckets.get(parsed.netloc)
        if bucket is None or key not in bucket.keys:
            return SCRIPT_FAULT.format(what=f"s3://{parsed.netloc}/{key}")
        return ""

    def write_log(self, group: str, stream: str, moment: datetime, lines: list[str]) -> None:
        """Past PutLogEvents, which refuses the future: twin time runs ahead of moto's."""
        entry = {"log": group, "stream": stream, "at": int(moment.timestamp() * 1000), "lines": lines}
        self._replay_log(entry)
        self._note(entry)

    def add_network(self, cidr: str, name: str) -> tuple[str, dict[ZoneId, str], str]:
        """A VPC with one subnet per zone and a security group that admits itself: the ids of all."""
        ec2 = self._ec2()
        tags = [{"Key": "Name", "Value": name}]
        vpc = ec2.create_vpc(cidr, tags=tags)
        ec2.modify_vpc_attribute(vpc.id, "enable_dns_hostnames", True)
        octets = cidr.split(".")
        subnets = {
            zone.zone_id: ec2.create_subnet(
                vpc.id, f"{octets[0]}.{octets[1]}.{32 * number}.0/19", availability_zone=zone.name, tags={"subnet": {}}
            ).id
            for number, zone in enumerate(self._zones)
        }
        group = ec2.create_security_group(name, f"Nodes of {name}", vpc_id=vpc.id)
        itself = [{"GroupId": group.id}]
        ec2.authorize_security_group_ingress(group.id, "-1", None, None, [], source_groups=itself, vpc_id=vpc.id)
        ec2.authorize_security_group_egress(group.id, "-1", None, None, [], source_groups=itself, vpc_id=vpc.id)
        return vpc.id, subnets, group.id

    def add_role(self, name: str, service: str) -> str:
        """A role that `service` may assume; its ARN."""
        statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        role = self._backend("iam", "aws").create_role(name, document, "/", None, "", [], "3600")
        return str(role.arn)

    def add_object(self, bucket: str, key: str, content: bytes) -> None:
        s3 = self._backend("s3", "aws")
        if bucket not in s3.buckets:
            s3.create_bucket(bucket, self._region)
        s3.put_object(bucket, key, content)

    def _run(self, request: Request) -> Response:
        environ = _environ(request)
        status_and_headers: list[Any] = []

        def start_response(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> None:
            status_and_headers[:] = [int(status.split()[0]), headers]

        try:
            body = b"".join(self._application()(environ, start_response))
        except NotImplementedError as error:
            raise NotInTwin(f"{request.service}: {error}") from error
        status, headers = status_and_headers
        kept = {name.lower(): value for name, value in headers if name.lower() not in {"content-length", "connection"}}
        return Response(status=status, body=body, headers=kept)

    def _note(self, entry: Mapping[str, Any]) -> None:
        with self._journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def _replay_log(self, entry: Mapping[str, Any]) -> None:
        logs = self._backend("logs", self._region)
        if entry["log"] not in logs.groups:
            logs.create_log_group(entry["log"], {})
        streams = logs.groups[entry["log"]].streams
        if entry["stream"] not in streams:
            logs.create_log_stream(entry["log"], entry["stream"])
        streams[entry["stream"]].put_log_events(
            [{"timestamp": entry["at"], "message": line} for line in entry["lines"]]
        )

    def _replay(self, entry: Mapping[str, Any]) -> None:
        if "log" in entry:
            self._replay_log(entry)
            return
        request = Request(
            method=entry["method"],
            path=entry["path"],
            query=entry["query"],
            headers=entry["headers"],
            body=base64.b64decode(entry["body"]),
        )
        self._make_ready(request)
        self._reseed(entry["seed"])
        self._changes = int(entry["seed"].rpartition(":")[2])
        self._run(request)

    def _make_ready(self, request: Request) -> None:
        """Before the random numbers are set: a service's first request makes backends, which draw some of them."""
        dispatcher: Any = self._application()
        dispatcher.get_application(_environ(request))

    def _application(self) -> Wsgi:
        if self._app is None:
            server = import_module("moto.moto_server.werkzeug_app")
            self._app = server.DomainDispatcherApplication(server.create_backend_app)
        return self._app

    def _reseed(self, seed: str) -> None:
        import_module("moto.moto_api._internal").mock_random.seed(seed)

    def _ec2(self) -> Any:
        """With this world's zones."""
        _import_ec2()
        places = import_module("moto.ec2.models.availability_zones_and_regions")
        places.RegionsAndZonesBackend.zones[self._region] = [
            places.Zone(name=zone.name, region_name=self._region, zone_id=zone.zone_id) for zone in self._zones
        ]
        if not self._has_ec2:
            # Its first use makes the default network, whose ids come from the same random numbers as everything
            # else: with a seed of its own no call's ids depend on whether the call was the first.
            self._has_ec2 = True
            self._reseed(f"{self._seed}:ec2")
        return self._backend("ec2", self._region)

    def _iam(self) -> Any:
        """With AWS's policies that clusters need."""
        backend = self._backend("iam", "aws")
        make = import_module("moto.iam.models").AWSManagedPolicy.from_data
        moment = "2024-01-01T00:00:00+00:00"
        for path, name in MANAGED_POLICIES:
            if f"arn:aws:iam::aws:policy{path}{name}" not in backend.managed_policies:
                document = {"Version": "2012-10-17", "Statement": []}
                facts = {"DefaultVersionId": "v1", "Path": path, "Document": document}
                policy = make(name, ACCOUNT, "aws", {**facts, "CreateDate": moment, "UpdateDate": moment})
                backend.managed_policies[policy.arn] = policy
        return backend

    def _backend(self, service: str, region: str) -> Any:
        self._application()
        return import_module("moto.backends").get_backend(service)[ACCOUNT][region]


def _import_ec2() -> None:
    """Without moto's tables of instance types and offerings: the twin answers for those, and they cost 50 MB."""
    if "moto.ec2.models" in sys.modules:
        return
    utilities: Any = import_module("moto.utilities.utils")
    load = utilities.load_resource
    utilities.load_resource = lambda name: {} if "instance_type" in str(name) else load(name)
    try:
        import_module("moto.ec2.models")
    finally:
        utilities.load_resource = load


def _has_efa(name: str) -> bool:
    instance_type = find_instance_type(name)
    return instance_type is not None and instance_type.efa_interfaces > 0


def _admits_itself(rules: Iterable[Any], group_id: str) -> bool:
    return any(str(rule.ip_protocol) == "-1" and rule.source_group.get("GroupId") == group_id for rule in rules)


def _environ(request: Request) -> dict[str, Any]:
    target = request.path + (f"?{request.query}" if request.query else "")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(request.path).decode("latin-1"),
        "QUERY_STRING": request.query,
        "RAW_URI": target,
        "REQUEST_URI": target,
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(request.body)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": BytesIO(request.body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": False,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in request.headers.items():
        if name not in {"content-type", "content-length"}:
            environ["HTTP_" + name.upper().replace("-", "_")] = value
    return environ
