/* doc.h - the docstrings of the extension. */
#ifndef VRAMSCOPE_PYTHON_DOC_H
#define VRAMSCOPE_PYTHON_DOC_H

extern const char ask_report_doc[];
extern const char ask_peak_doc[];
extern const char ask_oom_doc[];
extern const char ask_leaks_doc[];
extern const char ask_steps_doc[];
extern const char ask_fragments_doc[];
extern const char ask_categories_doc[];
extern const char ask_advise_doc[];
extern const char ask_check_doc[];
extern const char ask_replay_doc[];
extern const char ask_what_if_doc[];
extern const char ask_diff_doc[];
extern const char write_view_doc[];
extern const char write_picture_doc[];
extern const char write_export_doc[];
extern const char core_open_doc[];
extern const char core_load_doc[];
extern const char core_view_doc[];
extern const char core_merge_doc[];
extern const char core_unread_doc[];
extern const char core_report_run_doc[];
extern const char core_index_doc[];
extern const char core_size_doc[];
extern const char core_is_own_doc[];
extern const char core_export_ready_doc[];
extern const char core_category_rules_doc[];
extern const char core_version_doc[];
extern const char result_text_doc[];
extern const char result_json_doc[];
extern const char result_csv_doc[];
extern const char result_markdown_doc[];
extern const char result_junit_doc[];
extern const char result_sarif_doc[];
extern const char result_snapshot_doc[];
extern const char result_table_doc[];
extern const char result_to_pandas_doc[];
extern const char result_to_dict_doc[];
extern const char result_keys_doc[];
extern const char result_values_doc[];
extern const char result_items_doc[];
extern const char result_get_doc[];
extern const char recording_table_doc[];
extern const char recording_string_doc[];
extern const char recording_keys_doc[];
extern const char recording_values_doc[];
extern const char recording_items_doc[];
extern const char recording_get_doc[];
extern const char recording_close_doc[];
extern const char file_close_doc[];

#endif
