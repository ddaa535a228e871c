"""关于各角色权限的文字。"""

TEXTS: dict[str, str] = {
    "governance.role_missing": "{operation} 需要 {needed} 角色，而 {who} 的角色是 {role}。未做任何更改。",
    "governance.other_project": "项目 {project} 的作业只能由其成员操作；{who} 属于项目 {own}。未做任何更改。",
    "governance.ask_a_role": "请拥有 {needed} 角色的人来提出该请求",
}
