/** Composes messages that carry a compressed report of a day as a file, below a sentence for people: those of DMARC and of TLS. */
import { base64Lines } from './base64.ts';

type ReportMessage = {
  /** Address that the report is from, and those that it goes to. */
  contact: string;
  to: readonly string[];
  /** Domain that the report is about, host name of the installation, and id of the report. */
  domain: string;
  submitter: string;
  id: string;
  /** The id in the subject, with what belongs to it there. */
  subjectId: string;
  /** Further header fields, each with its CRLF. */
  fields?: string;
  /** Media type of the message, with its parameters but `boundary`. */
  mediaType: string;
  text: string;
  file: { mediaType: string; extension: string; bytes: Buffer };
  /** Begin and end of the time that the report is about, in Unix seconds. */
  begin: number;
  end: number;
};

/** Returns the message without `Date`, and the size of its header with the empty line. */
export function composeReportMessage(message: ReportMessage): { bytes: Buffer; headerBytes: number } {
  const { contact, to, domain, submitter, id, subjectId, fields = '', begin, end, file } = message;
  const filename = `${submitter}!${domain}!${begin}!${end}!${id}.${file.extension}`;
  const boundary = `report-${id}`;
  const header = Buffer.from(
    `From: ${contact}\r\nTo: ${to.join(',\r\n ')}\r\n` +
      `Subject: Report Domain: ${domain}\r\n Submitter: ${submitter}\r\n Report-ID: <${subjectId}>\r\n` +
      `Message-ID: <${id}@${submitter}>\r\n${fields}Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n` +
      `Content-Type: ${message.mediaType};\r\n boundary="${boundary}"\r\n\r\n`,
  );
  const beforeFile = [
    `--${boundary}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${message.text}\r\n--${boundary}\r\n`,
    `Content-Type: ${file.mediaType}\r\nContent-Disposition: attachment;\r\n filename="${filename}"\r\n`,
    'Content-Transfer-Encoding: base64\r\n\r\n',
  ];
  const bytes = Buffer.concat([
    header,
    Buffer.from(beforeFile.join('')),
    ...base64Lines({ kind: 'bytes', bytes: file.bytes }),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  return { bytes, headerBytes: header.length };
}
