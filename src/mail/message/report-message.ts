/** Composes messages that carry a compressed report of a day as a file, below a sentence for people: those of DMARC and of TLS. */
import { base64Lines } from './base64.ts';

/** The report of a day about the mail of a domain. */
export type DayReport = {
  /** Host name of the installation. */
  submitter: string;
  /** Address that the report is from. */
  contact: string;
  /** Domain whose record asks for the report. */
  domain: string;
  /** Letters and digits. */
  id: string;
  /** Period in Unix seconds. `end` belongs to it. */
  begin: number;
  end: number;
};

type ReportMessage = {
  /** Addresses that the report goes to. */
  to: readonly string[];
  /** The id in the subject, with what belongs to it there. */
  subjectId: string;
  /** Further header fields, each with its CRLF. */
  fields?: string;
  /** Media type of the message, with its parameters but `boundary`. */
  mediaType: string;
  text: string;
  file: { mediaType: string; extension: string; bytes: Buffer };
};

/** Returns the message without `Date`, and the size of its header with the empty line. */
export function composeReportMessage(
  { contact, domain, submitter, id, begin, end }: DayReport,
  { to, subjectId, fields = '', file, ...message }: ReportMessage,
): { bytes: Buffer; headerBytes: number } {
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
