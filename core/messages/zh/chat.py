"""Texts of the chat in the terminal."""

TEXTS: dict[str, str] = {
    "chat.welcome": "对话 {conversation}。请说出您的需要，或输入 /help。Ctrl-C 离开，工作会继续。",
    "chat.help": "请用自己的话说出需要。用编号或文字回答问题。\n  /runs           本对话启动的运行\n  /questions      等待您回答的问题\n  /conversations  以前的对话\n  /open 编号      继续其中一个\n  /new            开始新的对话\n  /quit           离开，工作会继续",
    "chat.still_open": "仍在等您回答：{prompt}  {options}",
    "chat.unknown_command": "没有这个命令。输入 /help 查看全部命令。",
    "chat.no_conversations": "还没有对话。",
    "chat.too_long": "这条消息有 {size} 字节，最多接受 {most} 字节。没有发送任何内容。请只写需要本身，不要附上材料。",
    "chat.work_goes_on": "{count} 个运行在后台继续。查看：muster runs show {run}",
    "chat.come_back": "回到本对话：muster chat --conversation {conversation}",
    "chat.text_void": "（刚才的回答中断了，重新开始）",
    "chat.looked": "正在查看：{tool}",
}
