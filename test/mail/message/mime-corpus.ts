/** Messages in the forms that the parser of parts meets. Lines end with CRLF unless the message is about another line end. */

function crlf(text: string): string {
  return text.replace(/^\n/, '').replace(/\n/g, '\r\n');
}

/** The example of RFC 9051 section 6.4.5.1, with a message in each place where it has one. */
export const SECTIONS = crlf(`
From: a@b.example
Subject: outer
Content-Type: multipart/mixed; boundary=outer

preamble
--outer

first text
--outer
Content-Type: application/octet-stream
Content-Transfer-Encoding: base64

aGVsbG8AIQ==
--outer
Content-Type: message/rfc822

Subject: third
Content-Type: multipart/mixed; boundary=third

--third

third text
--third
Content-Type: application/octet-stream

octets
--third--
--outer
Content-Type: multipart/mixed; boundary=fourth

--fourth
Content-Type: image/gif
Content-ID: <gif@b.example>

GIF
--fourth
Content-Type: message/rfc822
Content-Description: a message

Subject: fourth
Content-Type: multipart/mixed; boundary=inner

--inner

inner text
--inner
Content-Type: multipart/alternative; boundary=alternative

--alternative

plain
--alternative
Content-Type: text/richtext

rich
--alternative--
--inner--
--fourth--
--outer--
epilogue
`);

export const CORPUS: Readonly<Record<string, string>> = {
  sections: SECTIONS,
  plain: 'Subject: x\r\n\r\nbody\r\n',
  'bare line feeds': SECTIONS.replaceAll('\r\n', '\n'),
  'no header': '\r\nbody\r\n',
  'no body': 'Subject: x\r\n\r\n',
  empty: '',
  'a part without header and body': 'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n--b--\r\n',
  'a part that ends with an empty line':
    'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nx\r\n\r\n--b--\r\n',
  'no last delimiter':
    'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\none\r\n--b\r\n\r\ntwo\r\n',
  'an inner multipart without end': crlf(`
Content-Type: multipart/mixed; boundary=out

--out
Content-Type: multipart/mixed; boundary=in

--in

one
--out

two
--out--
`),
  'a boundary that begins like another one': crlf(`
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: multipart/mixed; boundary=bb

--bb

one
--bb--
--b

two --b
--bx
x--b
--b--
`),
  'spaces behind delimiters':
    'Content-Type: multipart/mixed; boundary="b c"\r\n\r\n--b c \t\r\n\r\none\r\n--b c-- \r\nend\r\n',
  'a digest': crlf(`
Content-Type: multipart/digest; boundary=d

--d

Subject: one

first
--d
Content-Type: text/plain

second
--d--
`),
  'a message in a message in a message': crlf(`
Content-Type: message/rfc822

Content-Type: message/rfc822

Subject: inner

text
`),
  'continued parameters': crlf(`
Content-Type: multipart/mixed;
 boundary*0=ab;
 boundary*1=cd

--abcd

text
--abcd--
`),
};
