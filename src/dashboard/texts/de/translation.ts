/** A sentence in English with its translation. `{1}` stands for the first value, and so on. */
export type Translation = readonly [english: string, translated: string];
