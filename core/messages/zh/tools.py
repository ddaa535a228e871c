"""Texts about calls to the outside."""

TEXTS: dict[str, str] = {
    "tools.rejected": "{call} 被拒绝（{code}）：{raw}",
    "tools.throttled": "{call} 被服务限流（{code}）；操作没有发生，可以重试。",
    "tools.service_error": "{call} 没有得到可用的答复（{code}）：{raw}",
    "tools.unreachable": "{call} 未能到达服务：{raw}",
    "tools.outcome_unknown": "{call} 可能已经执行，也可能没有（{code}）：{raw}",
    "tools.target_not_found": "{call}：目标不存在（{code}）：{raw}",
    "tools.conflict": "{call} 在当前状态下无法执行（{code}）：{raw}",
    "tools.role_not_assumable_yet": "{call}：新建的角色尚未生效（{code}）：{raw}",
    "tools.request_invalid": "{call} 未发送：{member}：{why}。",
    "tools.loopback_refused": "端点 {endpoint} 在本机上，而当前配置为生产环境。请改用内嵌配置，或明确允许本地端点。",
    "tools.kubernetes_left_loopback": "AWS 端点在本机，但集群 {cluster} 的 API 服务器在 {endpoint}：已拒绝，以免本地会话触及真实集群。",
    "tools.control_plane_not_ready": "EKS 集群 {cluster} 还没有 API 端点（状态 {status}）。",
    "tools.name_of_others": "{noun} {name!r} 已存在，但不是 Muster 为该集群创建的。",
    "tools.job_of_others": "命名空间 {namespace} 中已有名为 {name!r} 的作业，且不是本次运行提交的。",
    "tools.job_differs": "命名空间 {namespace} 中的作业 {name!r} 由我们提交，但规格不同。",
    "tools.group_changed_since": "集群 {cluster!r} 的实例组 {group!r} 与本次更改之前不同：可能有人正在修改它。",
    "tools.nodes_not_added": "未能向实例组 {group!r} 添加节点：{code}。",
}
