"""Texts of reboot_node."""

TEXTS: dict[str, str] = {
    "reboot_node.title": "重启节点",
    "reboot_node.step_check": "检查节点及其上运行的内容",
    "reboot_node.step_act": "重启节点",
    "reboot_node.step_follow": "等待节点重新就绪",
    "reboot_node.card_what": "重启 {name} 的实例组 {group} 的节点 {node}（{status}，健康状态 {health}）",
}
