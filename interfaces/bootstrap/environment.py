"""The environment that an embedded process gets: built, not inherited, so that nothing leaks to a real cloud.

A per-service endpoint would leave every other service pointed at AWS; so the catch-all is set, the keys are the
twin's token, and the person's configuration, credentials, metadata service and kubeconfig point nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping

from interfaces.bootstrap.servers import ServerRecord
from interfaces.settings import Settings, inherited_environment, settings_environment


def bare_environment(settings: Settings) -> dict[str, str]:
    """For processes that need no cloud at all: the twin, the planner, the supervisor."""
    nowhere = str(settings.home / "nowhere")
    return (
        inherited_environment()
        | settings_environment(settings)
        | {
            "AWS_CONFIG_FILE": nowhere,
            "AWS_SHARED_CREDENTIALS_FILE": nowhere,
            "AWS_EC2_METADATA_DISABLED": "true",
            "KUBECONFIG": nowhere,
            "PYTHONUNBUFFERED": "1",
        }
    )


def twin_environment(settings: Settings, twin: ServerRecord) -> Mapping[str, str]:
    """For processes that talk to the twin as if it were AWS: the worker, the chat, and `aws` beside them."""
    return bare_environment(settings) | {
        "AWS_ENDPOINT_URL": twin.endpoint,
        "AWS_ACCESS_KEY_ID": twin.token,
        "AWS_SECRET_ACCESS_KEY": "twin",
        "AWS_REGION": settings.region,
        "AWS_DEFAULT_REGION": settings.region,
    }
