package render

func init() {
	for id, text := range map[string][2]string{
		"call.above":    {"the comment above", "위의 댓글"},
		"call.link":     {"the report", "보고서"},
		"call.nocommit": {"the newest commit", "최신 커밋"},
		"call.rework":   {"{cp} failed and is handed back ({n}/{max}). What failed, why and what to do is in {where}.", "{cp} 실패, 재작업 요청입니다 ({n}/{max}). 실패 내용, 원인, 조치는 {where}에 있습니다."},
		"call.review":   {"{cp} passes; please review.", "{cp} 통과; 리뷰를 부탁드립니다."},
		"call.ready":    {"{cp} passes, so {target} can start.", "{cp} 통과, {target} 시작 가능합니다."},
		"call.mended":   {"{cp} passes on {sha}. Closing.", "{cp} 통과: {sha}. 종료합니다."},
		"call.reopened": {"{cp} of {case} fails again. Reopening.", "{case}의 {cp} 다시 실패. 다시 엽니다."},
	} {
		english[id], korean[id] = text[0], text[1]
	}
}
