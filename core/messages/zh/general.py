"""Texts that no single topic owns."""

TEXTS: dict[str, str] = {
    "general.text": "{text}",
    "general.failure_transient": "暂时性故障",
    "general.failure_capacity": "容量不足",
    "general.failure_config": "配置有误",
    "general.failure_quota": "配额已用完",
    "general.failure_permission": "缺少权限",
    "general.failure_unknown": "原因无法确定",
    "general.yes": "是",
    "general.no": "否",
}
