/** Reads what the tools of the client libraries start from: the OpenAPI document of the daemon and the names of the operations. */
import { readFileSync } from 'node:fs';
import { openTestApp } from '../../test/support/test-app.ts';

/** A schema of the document. The tools read the few keywords that the API uses. */
export type Schema = {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
};

export type Content = Readonly<Record<string, { schema: Schema; example?: unknown }>>;

export type DescribedOperation = {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: readonly {
    name: string;
    in: string;
    required?: boolean;
    description?: string;
    schema: Schema;
  }[];
  requestBody?: { required?: boolean; content: Content };
  responses: Readonly<Record<string, { content?: Content; $ref?: string }>>;
};

export type Document = {
  paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  webhooks: Readonly<Record<string, { post: { summary: string; requestBody: { content: Content } } }>>;
  components: { schemas: Readonly<Record<string, Schema>> };
};

/** One line of `contract/operations.json`. */
export type NamedOperation = {
  id: string;
  call: string;
  method: string;
  path: string;
  body?: 'json' | 'csv';
  bodyOptional?: boolean;
  query?: boolean;
  answer: 'json' | 'page' | 'none' | 'stream';
  repeat: 'always' | 'keyed' | 'unsent';
};

export function readOperations(): NamedOperation[] {
  const file = new URL('../contract/operations.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as NamedOperation[];
}

/** Returns the document as the daemon serves it at `/v1/openapi.json`. */
export async function readDocument(): Promise<Document> {
  await using testApp = await openTestApp();
  return structuredClone((await testApp.openServer()).openApi()) as unknown as Document;
}
