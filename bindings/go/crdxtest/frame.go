package crdxtest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
)

// header is the header of a frame, in both directions: bindings/engine/src/message.rs and outgoing.rs.
type header struct {
	ID int64 `json:"id"`

	// A request.
	Method        string      `json:"method,omitempty"`
	Path          string      `json:"path,omitempty"`
	ContentType   string      `json:"contentType,omitempty"`
	Accept        string      `json:"accept,omitempty"`
	UserAgent     string      `json:"userAgent,omitempty"`
	Authorization string      `json:"authorization,omitempty"`
	Impersonate   [][2]string `json:"impersonate,omitempty"`

	// The end of its client, the end of its pause, and a time for a bookmark.
	End      bool `json:"end,omitempty"`
	Resume   bool `json:"resume,omitempty"`
	Bookmark bool `json:"bookmark,omitempty"`

	// Its answer.
	Code                 int         `json:"code,omitempty"`
	Headers              [][2]string `json:"headers,omitempty"`
	Warnings             []string    `json:"warnings,omitempty"`
	TimeoutMilliseconds  int64       `json:"timeoutMilliseconds,omitempty"`
	BookmarkMilliseconds int64       `json:"bookmarkMilliseconds,omitempty"`
	PauseMilliseconds    int64       `json:"pauseMilliseconds,omitempty"`
	Last                 bool        `json:"last,omitempty"`

	// A call of a webhook, and its outcome.
	Call     *int64 `json:"call,omitempty"`
	URL      string `json:"url,omitempty"`
	CABundle string `json:"caBundle,omitempty"`
	MaxBytes int64  `json:"maxBytes,omitempty"`
	Error    string `json:"error,omitempty"`
}

// settings are the first frame.
type settings struct {
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
}

// seed gives a copy of a server its own UIDs and generated names.
type seed struct {
	Seed int64 `json:"seed"`
}

// encodeFrame returns the lengths of the header and the body, the header and the body.
func encodeFrame(h any, body []byte) ([]byte, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	frame := make([]byte, 8, 8+len(text)+len(body))
	binary.LittleEndian.PutUint32(frame, uint32(len(text)))
	binary.LittleEndian.PutUint32(frame[4:], uint32(len(body)))
	return append(append(frame, text...), body...), nil
}

// decodeFrame returns the header (into h) and the body of the first frame, and what follows it.
func decodeFrame(bytes []byte, h any) (body, rest []byte, err error) {
	if len(bytes) < 8 {
		return nil, nil, errors.New("a frame is too short")
	}
	text := uint64(binary.LittleEndian.Uint32(bytes))
	end := 8 + text + uint64(binary.LittleEndian.Uint32(bytes[4:]))
	if uint64(len(bytes)) < end {
		return nil, nil, errors.New("a frame is too short")
	}
	return bytes[8+text : end], bytes[end:], json.Unmarshal(bytes[8:8+text], h)
}
