/** A stand-in for the package `node-fetch`: requests to servers of this package are answered without a port. */
export default function fetch(input: string | Request, init?: RequestInit): Promise<Response>;
