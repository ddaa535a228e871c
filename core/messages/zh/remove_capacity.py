"""Texts of remove_capacity."""

TEXTS: dict[str, str] = {
    "remove_capacity.title": "从集群移除节点",
    "remove_capacity.step_survey": "列出节点及其上运行的内容",
    "remove_capacity.step_remove": "删除节点",
    "remove_capacity.step_wait_gone": "等待节点消失",
    "remove_capacity.card_what": "删除 {name} 的实例组 {group} 的 {count} 个节点：从 {before} 个到 {after} 个。此操作无法撤销。",
    "remove_capacity.progress": "{total} 个节点中已消失 {gone} 个",
    "remove_capacity.waiting": "正在等待 {count} 个节点消失",
    "remove_capacity.stuck": "{count} 个节点迟迟没有消失。",
}
