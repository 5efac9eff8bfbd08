/** The URL of this file. A bundle in CommonJS has none. */
export const ownUrl: string | undefined = import.meta.url
