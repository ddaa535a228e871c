"""Texts about stored rows."""

TEXTS: dict[str, str] = {
    "state.row_not_found": "找不到 {noun} {id!r}。",
    "state.illegal_transition": "{noun} {id!r} 当前为 {before}，不能变为 {after}。",
    "state.lease_lost": "另一个工作进程已接管运行 {run!r}（栅栏号 {fence}）；此处未再写入任何内容。",
    "state.idempotency_mismatch": "操作 {key!r} 曾以不同参数登记，因此没有执行。",
    "state.step_changed_its_mind": "操作 {key!r} 是否已生效尚不清楚，而同一步骤现在又要以不同参数执行它；未执行任何操作。",
    "state.approval_used": "计划 {plan!r} 的批准已用于启动 {node!r}（运行 {run!r}）；一次批准只能使用一次。",
    "state.database_unusable": "无法使用数据库 {path!r}：{why}。未做任何更改。",
}
