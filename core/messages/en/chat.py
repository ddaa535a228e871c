"""Texts of the chat in the terminal."""

TEXTS: dict[str, str] = {
    "chat.welcome": "Conversation {conversation}. Say what you need, or /help. Ctrl-C leaves; work goes on.",
    "chat.help": "Say what you need in your own words. Answer a question by its number or in words.\n  /runs           what this conversation has started\n  /questions      what waits for your answer\n  /conversations  earlier conversations\n  /open ID        go on with one of them\n  /new            begin another\n  /quit           leave; work goes on",
    "chat.still_open": "Still open: {prompt}  {options}",
    "chat.unknown_command": "There is no such command. /help lists them.",
    "chat.no_conversations": "No conversations yet.",
    "chat.too_long": "That message has {size} bytes; at most {most} are taken. Nothing was sent. Please say the wish itself and leave the material out.",
    "chat.work_goes_on": "{count} run(s) go on in the background. Look at them with: muster runs show {run}",
    "chat.come_back": "Come back with: muster chat --conversation {conversation}",
    "chat.text_void": "(that answer broke off; it begins anew)",
    "chat.looked": "looking: {tool}",
}
