/* SPDX-License-Identifier: MIT */
/* The page's sources as strings, made at build time by embed.awk. */
#ifndef RD_PAGE_H
#define RD_PAGE_H

/* page.html; html.c replaces the names between '@'. */
extern const char rd_page_template[];
extern const char rd_page_style[];
extern const char rd_page_view_style[];
extern const char rd_page_loader[];
extern const char rd_page_script[];

#endif /* RD_PAGE_H */
