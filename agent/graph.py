"""The conversation as a graph: nodes and edges only. What a node does stands in `agent.nodes`.

    intake -> think <-> act -> prepare -> wait -> settle -> prepare ... -> rest

Every node names its successor in the state (`next`), so a crash between two nodes loses nothing but time.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from agent.conversation import Turn, TurnState
from agent.nodes.act import act
from agent.nodes.intake import intake
from agent.nodes.prepare import prepare
from agent.nodes.rest import rest
from agent.nodes.settle import settle
from agent.nodes.think import think
from agent.nodes.wait import wait

RECURSION_LIMIT = 50
KEPT_CHECKPOINTS = 3
_AFTER = {
    "intake": ("think",),
    "think": ("think", "act", "prepare", "rest"),
    "act": ("think", "prepare", "rest"),
    "prepare": ("wait", "rest"),
    "settle": ("wait", "prepare", "rest"),
}

Graph = CompiledStateGraph[TurnState, Turn, TurnState, TurnState]


def build_graph(saver: SqliteSaver) -> Graph:
    graph = StateGraph(TurnState, context_schema=Turn)
    graph.add_node("intake", intake)
    graph.add_node("think", think)
    graph.add_node("act", act)
    graph.add_node("prepare", prepare)
    graph.add_node("wait", wait)
    graph.add_node("settle", settle)
    graph.add_node("rest", rest)
    graph.add_conditional_edges(START, _first, ["intake", "settle"])
    for node, successors in _AFTER.items():
        graph.add_conditional_edges(node, _next, list(successors))
    graph.add_edge("wait", "settle")
    graph.add_edge("rest", END)
    return graph.compile(checkpointer=saver)


def open_saver(path: Path) -> SqliteSaver:
    """Checkpoints in a file of their own. `synchronous=NORMAL`: a killed process loses nothing, and the rows that
    must survive a power cut are the repository's. The serialiser loads no types but its own.
    """
    connection = sqlite3.connect(path, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    return SqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))


def prune(saver: SqliteSaver, thread_id: str) -> None:
    """Keeps a thread's last checkpoints: the library's SQLite saver keeps all of them for ever."""
    newest = "SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? ORDER BY checkpoint_id DESC LIMIT 1 OFFSET ?"
    with saver.cursor() as cursor:
        row = cursor.execute(newest, (thread_id, KEPT_CHECKPOINTS - 1)).fetchone()
        if row is not None:
            for table in ("checkpoints", "writes"):
                cursor.execute(f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_id < ?", (thread_id, row[0]))


def _first(state: TurnState) -> str:
    return "settle" if state.get("is_settling") else "intake"


def _next(state: TurnState) -> str:
    return state["next"]
