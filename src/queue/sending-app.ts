/** The part of the app that sends mail. It is there in the thread that delivers, and in the app of the main thread. */
import type { ReadableBlobs } from '../blobs/blobs.ts';
import type { HtmlText } from '../mail/message/html-text.ts';
import type { QueryingApp } from '../thread-app.ts';

export type SendingApp = QueryingApp & { blobs: ReadableBlobs; htmlText: Pick<HtmlText, 'restore'> };
