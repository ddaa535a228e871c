"""Texts about questions and their answers."""

TEXTS: dict[str, str] = {
    "questions.asked": "请回答：{prompt}",
    "questions.answered": "{who} 已回答：{answer}",
    "questions.someone": "有人",
    "questions.scripted": "{who}（脚本）",
    "questions.not_an_option": "{answer!r} 不在选项之中。",
    "questions.stale": "该回答对应的是旧的选项列表（版本 {given}，当前为 {current}），请重新查看列表。",
    "questions.stale_plan": "请求批准之后计划已有变化，请重新查看。",
    "questions.late_answered": "晚了一步：{who} 已回答 {answer}。",
    "questions.late_expired": "晚了一步：问题已于 {at} 过期，视为拒绝。",
    "questions.late_withdrawn": "晚了一步：这个问题已不再需要回答。",
    "questions.not_human": "这个问题只能由人来回答。",
    "questions.expired": "没有人及时回答：{prompt}",
    "questions.withdrawn": "不再需要回答：{prompt}",
    "questions.plan_changed": "计划已修改。",
    "questions.plan_withdrawn": "计划已撤回。",
    "questions.run_ended": "运行已结束。",
}
