/** The customer of the demo. It calls the HTTP API with a key, like any program. */
import { request } from 'undici';

export type ApiClient = {
  /**
   * Sends a request and returns the body of the response.
   * @throws Error with the problem that the API reported
   */
  post<Answer>(path: string, body?: object): Promise<Answer>;
};

/** Returns a client for the API at `address`. */
export function createApiClient(address: string, key: string): ApiClient {
  return {
    async post<Answer>(path: string, body: object = {}) {
      const response = await request(`${address}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await response.body.text();
      if (response.statusCode >= 400) throw new Error(`POST ${path}: ${response.statusCode} ${text}`);
      return JSON.parse(text) as Answer;
    },
  };
}
