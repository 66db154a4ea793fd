/** An SMTP session as text, line by line: commands, replies, and notes about the connection. */
import { Source } from './source.tsx';

type Line = { ms: number; direction: 'sent' | 'received' | 'note'; text: string };

const MARKS: Record<Line['direction'], string> = { sent: '>', received: '<', note: '*' };

/** The lines of a session, each with its milliseconds since the connection was begun, and its direction. */
export function SmtpSession({ label, lines }: { label: string; lines: readonly Line[] }) {
  const text = lines.map(
    ({ ms, direction, text }) => `${String(ms).padStart(6)} ${MARKS[direction]} ${text}`,
  );
  return <Source label={label} text={text.join('\n')} dir="ltr" />;
}
