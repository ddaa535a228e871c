"""对话中的文字。"""

TEXTS: dict[str, str] = {
    "agent.model_unreachable": "无法连接语言模型（{why}）。没有做任何更改，请稍后再试。",
    "agent.model_timed_out": "语言模型在 {seconds} 秒内没有给出回答。没有做任何更改，请再试一次。",
    "agent.model_rejected": "语言模型的服务器拒绝了请求（HTTP {status}：{why}）。没有做任何更改，请检查它的地址、密钥和模型名。",
}
