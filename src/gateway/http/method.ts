export const METHODS = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

/** `POST` as `Post`, for operationIds. */
export const capitalized = (method: Method): string => `${method[0]}${method.slice(1).toLowerCase()}`;
