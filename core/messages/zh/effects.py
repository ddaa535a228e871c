"""Texts about changes whose outcome is open."""

TEXTS: dict[str, str] = {
    "effects.settling": "{call} 的响应已丢失；正在等待，直到平台的列表可信为止。",
    "effects.outcome_question": "{tool} 是否已经生效？它的响应已丢失，查看现状也无法判断。",
    "effects.call_made": "调用：{call}，令牌 {token}，登记于 {at}。",
    "effects.arguments": "参数：{args}",
    "effects.not_repeatable": "重复调用可能重复收费，未经人确认不会再次调用。",
    "effects.not_shown": "有人回答说已经生效，但平台上看不到。",
    "effects.happened": "已经生效：重新查看并采用现有结果",
    "effects.not_happened": "没有生效：再次调用",
    "effects.cancel": "取消此运行",
}
