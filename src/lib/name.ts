// A valid name of a user or group: safe as a field of /etc/passwd and as a folder below /home.

export const NAME = /^[a-z_][a-z0-9_-]{0,31}$/;
