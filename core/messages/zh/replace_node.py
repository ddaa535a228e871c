"""Texts of replace_node."""

TEXTS: dict[str, str] = {
    "replace_node.title": "更换节点",
    "replace_node.step_check": "检查节点及其上运行的内容",
    "replace_node.step_act": "更换节点",
    "replace_node.step_follow": "等待新实例就绪",
    "replace_node.card_what": "将 {name} 的实例组 {group} 的节点 {node}（{status}，健康状态 {health}）换成新实例。此操作无法撤销。",
}
