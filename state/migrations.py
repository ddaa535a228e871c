"""The tables, as numbered migrations that are only ever added to.

DDL that SQLite and PostgreSQL both run. `{identity}` is the adapter's type of a column that numbers itself.
A database whose newest migration is not in this list was written by a newer version and is refused.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    statements: tuple[str, ...]


_FIRST = (
    """
    CREATE TABLE conversations (
        id TEXT PRIMARY KEY,
        title TEXT NOT NULL,
        language TEXT NOT NULL,
        started_by TEXT NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL
    )""",
    """
    CREATE TABLE transcript (
        conversation_id TEXT NOT NULL REFERENCES conversations (id),
        sequence BIGINT NOT NULL,
        speaker TEXT NOT NULL,
        text TEXT NOT NULL,
        at TEXT NOT NULL,
        principal TEXT,
        message TEXT,
        tool_calls TEXT,
        tool_call_id TEXT,
        PRIMARY KEY (conversation_id, sequence)
    )""",
    """
    CREATE TABLE plans (
        id TEXT PRIMARY KEY,
        conversation_id TEXT REFERENCES conversations (id),
        requested_by TEXT NOT NULL,
        status TEXT NOT NULL,
        envelope TEXT NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL
    )""",
    """
    CREATE TABLE plan_nodes (
        plan_id TEXT NOT NULL REFERENCES plans (id),
        node_id TEXT NOT NULL,
        position BIGINT NOT NULL,
        operation TEXT NOT NULL,
        params TEXT NOT NULL,
        choices TEXT NOT NULL,
        depends_on TEXT NOT NULL,
        PRIMARY KEY (plan_id, node_id)
    )""",
    """
    CREATE TABLE runs (
        id TEXT PRIMARY KEY,
        ordinal BIGINT NOT NULL,
        workflow TEXT NOT NULL,
        workflow_version BIGINT NOT NULL,
        params TEXT NOT NULL,
        requested_by TEXT NOT NULL,
        status TEXT NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        cluster TEXT,
        plan_id TEXT REFERENCES plans (id),
        plan_node TEXT,
        conversation_id TEXT REFERENCES conversations (id),
        data TEXT NOT NULL,
        step TEXT,
        attempt BIGINT NOT NULL,
        wake_at TEXT,
        waiting_for TEXT,
        reason TEXT,
        failure TEXT,
        stop_requested TEXT,
        stop_requested_by TEXT,
        fence BIGINT NOT NULL,
        lease_owner TEXT,
        lease_expires_at TEXT
    )""",
    # One approval of a plan starts each of its nodes once.
    "CREATE UNIQUE INDEX runs_by_plan_node ON runs (plan_id, plan_node)",
    "CREATE INDEX runs_by_wake_time ON runs (status, wake_at)",
    "CREATE INDEX runs_by_lease_end ON runs (status, lease_expires_at)",
    "CREATE INDEX runs_by_cluster ON runs (cluster, status)",
    "CREATE INDEX runs_by_conversation ON runs (conversation_id)",
    "CREATE INDEX runs_by_ordinal ON runs (ordinal)",
    """
    CREATE TABLE run_dependencies (
        run_id TEXT NOT NULL REFERENCES runs (id),
        depends_on TEXT NOT NULL REFERENCES runs (id),
        PRIMARY KEY (run_id, depends_on)
    )""",
    "CREATE INDEX run_dependants ON run_dependencies (depends_on)",
    """
    CREATE TABLE steps (
        run_id TEXT NOT NULL REFERENCES runs (id),
        name TEXT NOT NULL,
        position BIGINT NOT NULL,
        kind TEXT NOT NULL,
        status TEXT NOT NULL,
        attempts BIGINT NOT NULL,
        retries BIGINT NOT NULL,
        started_at TEXT NOT NULL,
        ended_at TEXT,
        progress TEXT,
        output TEXT NOT NULL,
        PRIMARY KEY (run_id, name)
    )""",
    """
    CREATE TABLE effects (
        key TEXT PRIMARY KEY,
        run_id TEXT NOT NULL REFERENCES runs (id),
        step TEXT NOT NULL,
        tool TEXT NOT NULL,
        args TEXT NOT NULL,
        token TEXT NOT NULL,
        status TEXT NOT NULL,
        fence BIGINT NOT NULL,
        intended_at TEXT NOT NULL,
        called_at TEXT NOT NULL,
        before TEXT NOT NULL,
        rounds BIGINT NOT NULL,
        settled_at TEXT,
        result TEXT
    )""",
    "CREATE INDEX effects_by_run ON effects (run_id, step)",
    """
    CREATE TABLE questions (
        id TEXT PRIMARY KEY,
        ordinal BIGINT NOT NULL,
        asker TEXT NOT NULL,
        name TEXT NOT NULL,
        kind TEXT NOT NULL,
        prompt TEXT NOT NULL,
        options TEXT NOT NULL,
        options_version BIGINT NOT NULL,
        status TEXT NOT NULL,
        asked_at TEXT NOT NULL,
        takes_other BIGINT NOT NULL,
        field TEXT,
        details TEXT NOT NULL,
        run_id TEXT REFERENCES runs (id),
        plan_id TEXT REFERENCES plans (id),
        plan_digest TEXT,
        conversation_id TEXT REFERENCES conversations (id),
        expires_at TEXT,
        answer TEXT,
        answered_by TEXT,
        answered_at TEXT
    )""",
    # Asking twice is asking once, whoever asks at the same moment.
    "CREATE UNIQUE INDEX open_questions ON questions (asker, name) WHERE status = 'open'",
    "CREATE INDEX questions_by_asker ON questions (asker, name, ordinal)",
    "CREATE INDEX questions_by_status ON questions (status, expires_at)",
    "CREATE INDEX questions_by_conversation ON questions (conversation_id)",
    """
    CREATE TABLE feed (
        sequence {identity},
        kind TEXT NOT NULL,
        message TEXT NOT NULL,
        at TEXT NOT NULL,
        conversation_id TEXT,
        run_id TEXT,
        question_id TEXT,
        data TEXT NOT NULL
    )""",
    "CREATE INDEX feed_by_conversation ON feed (conversation_id, sequence)",
    "CREATE INDEX feed_by_run ON feed (run_id, sequence)",
    """
    CREATE TABLE audit (
        subject TEXT NOT NULL,
        sequence BIGINT NOT NULL,
        what TEXT NOT NULL,
        before TEXT,
        after TEXT NOT NULL,
        actor TEXT NOT NULL,
        reason TEXT,
        at TEXT NOT NULL,
        previous_hash TEXT NOT NULL,
        hash TEXT NOT NULL,
        PRIMARY KEY (subject, sequence)
    )""",
    """
    CREATE TABLE evidence (
        id TEXT PRIMARY KEY,
        run_id TEXT REFERENCES runs (id),
        kind TEXT NOT NULL,
        text TEXT NOT NULL,
        at TEXT NOT NULL
    )""",
    "CREATE INDEX evidence_by_run ON evidence (run_id, at)",
    """
    CREATE TABLE switches (
        name TEXT PRIMARY KEY,
        position TEXT NOT NULL,
        updated_at TEXT NOT NULL
    )""",
)

MIGRATIONS = (Migration(1, "first tables", _FIRST),)
"""In order of number."""
