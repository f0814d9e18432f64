CREATE TABLE `expectations` (
	`controller` text NOT NULL,
	`key` text NOT NULL,
	`owner_uid` text NOT NULL,
	`adds` integer NOT NULL,
	`deletes` integer NOT NULL,
	`delete_keys` text NOT NULL,
	`term` integer NOT NULL,
	`set_at` integer NOT NULL,
	PRIMARY KEY(`controller`, `key`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `facts` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `intents` (
	`id` text PRIMARY KEY NOT NULL,
	`controller` text NOT NULL,
	`verb` text NOT NULL,
	`owner_uid` text NOT NULL,
	`slot` text NOT NULL,
	`resource` text NOT NULL,
	`namespace` text NOT NULL,
	`name` text NOT NULL,
	`uid` text NOT NULL,
	`term` integer NOT NULL,
	`sent_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `journal` (
	`id` integer PRIMARY KEY NOT NULL,
	`controller` text NOT NULL,
	`key` text NOT NULL,
	`started_at` integer NOT NULL,
	`duration_ms` integer NOT NULL,
	`outcome` text NOT NULL,
	`error` text NOT NULL,
	`because` text NOT NULL,
	`writes` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `memory` (
	`controller` text NOT NULL,
	`key` text NOT NULL,
	`subject_uid` text NOT NULL,
	`value` text NOT NULL,
	`term` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`controller`, `key`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `objects` (
	`resource` text NOT NULL,
	`key` text NOT NULL,
	`uid` text NOT NULL,
	`resource_version` text NOT NULL,
	`json` text NOT NULL,
	PRIMARY KEY(`resource`, `key`)
);
--> statement-breakpoint
CREATE TABLE `own_writes` (
	`controller` text NOT NULL,
	`owner_key` text NOT NULL,
	`owner_uid` text NOT NULL,
	`resource` text NOT NULL,
	`resource_version` text NOT NULL,
	`term` integer NOT NULL,
	PRIMARY KEY(`controller`, `owner_key`, `resource`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `resume_points` (
	`resource` text PRIMARY KEY NOT NULL,
	`resource_version` text NOT NULL,
	`observed_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `work` (
	`queue` text NOT NULL,
	`key` text NOT NULL,
	`failures` integer NOT NULL,
	`due_at` integer NOT NULL,
	`dirty` integer NOT NULL,
	`last_error` text NOT NULL,
	`because` text NOT NULL,
	`term` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`queue`, `key`)
) WITHOUT ROWID;
