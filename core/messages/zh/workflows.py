"""Texts about workflows, their engine and its gates."""

TEXTS: dict[str, str] = {
    "workflows.unknown": "此处没有名为 {workflow!r} 的工作流。",
    "workflows.unknown_version": "此运行始于 {workflow!r} 的版本 {version}，而此工作进程没有该版本（已有：{known}）。请在具备该版本的工作进程上恢复。",
    "workflows.unknown_step": "{workflow!r} 的版本 {version} 没有步骤 {step!r}，运行无法继续。",
    "workflows.params_invalid": "参数不符合 {workflow!r} 的要求：{why}",
    "workflows.retrying": "{cause} 正在重试（第 {attempt} 次，共 {budget} 次）。",
    "workflows.step_bug": "步骤 {step!r} 因自身错误而中断：{error}",
    "workflows.worn_out": "步骤 {step!r} 已开始 {times} 次但从未结束：每次工作进程都丢失了。",
    "workflows.overdue": "步骤 {step!r} 的等待已超过 {minutes} 分钟。{why}",
    "workflows.read_only": "只读模式已开启：解除之前不做任何更改。",
    "workflows.stopped": "停止开关已打开：解除之前不做任何更改。",
    "workflows.not_approved": "此运行没有得到批准。",
    "workflows.approval_mismatch": "此运行要做的事与批准的内容不符。",
    "workflows.choice_unproven": "{kind} {value} 不是由人选定的：{why}",
    "workflows.choice_malformed": "没有说明来源",
    "workflows.choice_not_answered": "没有任何回答给出过它",
    "workflows.choice_not_said": "请求者没有说过",
    "workflows.choice_not_scoped": "并非来自运行手册自身的请求",
    "workflows.not_measured": "没有名为 {name} 的工作流。可测量的有：{known}。",
}
